"""Whole Vaadin views, each to be covered by a test class of its own."""

from lift import Dataset, Item, Pattern, Rubric

CUSTOMER_FORM_VIEW = """\
package com.acme.crm.customers;

import com.vaadin.flow.component.button.Button;
import com.vaadin.flow.component.combobox.ComboBox;
import com.vaadin.flow.component.notification.Notification;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.component.textfield.EmailField;
import com.vaadin.flow.component.textfield.TextField;
import com.vaadin.flow.data.binder.Binder;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;

@Route("customers/new")
@PageTitle("New customer")
public class CustomerFormView extends VerticalLayout {

    private final TextField company = new TextField("Company");
    private final EmailField email = new EmailField("E-mail");
    private final ComboBox<String> segment = new ComboBox<>("Segment");
    private final Binder<Customer> binder = new Binder<>(Customer.class);

    public CustomerFormView(CustomerService customers) {
        company.setHelperText("Name as registered");
        segment.setItems("Small business", "Mid-market", "Enterprise");
        segment.setValue("Small business");

        binder.forField(company)
                .asRequired("Enter the name of the company")
                .bind(Customer::getCompany, Customer::setCompany);
        binder.forField(email)
                .asRequired("Enter an e-mail address")
                .bind(Customer::getEmail, Customer::setEmail);
        binder.forField(segment).bind(Customer::getSegment, Customer::setSegment);

        Button save = new Button("Save", click -> {
            Customer customer = new Customer();
            if (binder.writeBeanIfValid(customer)) {
                customers.save(customer);
                Notification.show("Customer saved");
            }
        });
        add(company, email, segment, save);
    }
}
"""

CUSTOMER_FORM_VIEW_IT = """\
package com.acme.crm.customers;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.crm.it.support.SpringPlaywrightIT;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.ButtonElement;
import org.vaadin.addons.dramafinder.element.ComboBoxElement;
import org.vaadin.addons.dramafinder.element.EmailFieldElement;
import org.vaadin.addons.dramafinder.element.NotificationElement;
import org.vaadin.addons.dramafinder.element.TextFieldElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class CustomerFormViewIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/customers/new";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("New customer");
    }

    @Test
    void explainsTheCompanyField() {
        TextFieldElement.getByLabel(page, "Company").assertHelperHasText("Name as registered");
    }

    @Test
    void preselectsSmallBusiness() {
        ComboBoxElement.getByLabel(page, "Segment").assertValue("Small business");
    }

    @Test
    void refusesAnEmptyForm() {
        ButtonElement.getByText(page, "Save").click();

        TextFieldElement company = TextFieldElement.getByLabel(page, "Company");
        company.assertInvalid();
        company.assertErrorMessage("Enter the name of the company");
        EmailFieldElement email = EmailFieldElement.getByLabel(page, "E-mail");
        email.assertInvalid();
        email.assertErrorMessage("Enter an e-mail address");
    }

    @Test
    void savesACompleteForm() {
        TextFieldElement.getByLabel(page, "Company").setValue("Blue Bottle");
        EmailFieldElement.getByLabel(page, "E-mail").setValue("office@example.com");
        ComboBoxElement.getByLabel(page, "Segment").selectItem("Enterprise");

        ButtonElement.getByText(page, "Save").click();

        NotificationElement.getByText(page, "Customer saved").assertOpen();
    }
}
"""

PREFERENCES_VIEW = """\
package com.acme.desk.preferences;

import com.vaadin.flow.component.button.Button;
import com.vaadin.flow.component.checkbox.Checkbox;
import com.vaadin.flow.component.notification.Notification;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.component.radiobutton.RadioButtonGroup;
import com.vaadin.flow.component.select.Select;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;

@Route("preferences")
@PageTitle("Preferences")
public class PreferencesView extends VerticalLayout {

    public PreferencesView() {
        Select<String> language = new Select<>();
        language.setLabel("Language");
        language.setItems("English", "Finnish", "German");
        language.setValue("English");

        RadioButtonGroup<String> density = new RadioButtonGroup<>("Density");
        density.setItems("Compact", "Comfortable");
        density.setValue("Comfortable");

        Select<String> day = new Select<>();
        day.setLabel("Day of the report");
        day.setItems("Monday", "Friday");
        day.setEnabled(false);

        Checkbox report = new Checkbox("Send me a weekly report");
        report.addValueChangeListener(change -> day.setEnabled(change.getValue()));

        Button save = new Button("Save");
        save.setEnabled(false);
        save.addClickListener(click -> {
            Notification.show("Preferences saved");
            save.setEnabled(false);
        });
        language.addValueChangeListener(change -> save.setEnabled(true));
        density.addValueChangeListener(change -> save.setEnabled(true));
        report.addValueChangeListener(change -> save.setEnabled(true));

        add(language, density, report, day, save);
    }
}
"""

PREFERENCES_VIEW_IT = """\
package com.acme.desk.preferences;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.desk.it.support.SpringPlaywrightIT;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.ButtonElement;
import org.vaadin.addons.dramafinder.element.CheckboxElement;
import org.vaadin.addons.dramafinder.element.NotificationElement;
import org.vaadin.addons.dramafinder.element.RadioButtonGroupElement;
import org.vaadin.addons.dramafinder.element.SelectElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class PreferencesViewIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/preferences";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("Preferences");
    }

    @Test
    void startsWithTheDefaults() {
        SelectElement.getByLabel(page, "Language").assertValue("English");
        RadioButtonGroupElement.getByLabel(page, "Density").assertValue("Comfortable");
        CheckboxElement.getByLabel(page, "Send me a weekly report").assertNotChecked();
        SelectElement.getByLabel(page, "Day of the report").assertDisabled();
        ButtonElement.getByText(page, "Save").assertDisabled();
    }

    @Test
    void weeklyReportEnablesTheDay() {
        CheckboxElement report = CheckboxElement.getByLabel(page, "Send me a weekly report");
        SelectElement day = SelectElement.getByLabel(page, "Day of the report");

        report.check();
        day.assertEnabled();
        day.selectItem("Friday");
        day.assertValue("Friday");

        report.uncheck();
        day.assertDisabled();
    }

    @Test
    void changingTheDensityEnablesSave() {
        RadioButtonGroupElement.getByLabel(page, "Density").selectByLabel("Compact");

        ButtonElement.getByText(page, "Save").assertEnabled();
    }

    @Test
    void savesAnotherLanguage() {
        SelectElement.getByLabel(page, "Language").selectItem("Finnish");

        ButtonElement save = ButtonElement.getByText(page, "Save");
        save.assertEnabled();
        save.click();

        NotificationElement.getByText(page, "Preferences saved").assertOpen();
        save.assertDisabled();
    }
}
"""

ORDERS_VIEW = """\
package com.acme.shop.orders;

import com.vaadin.flow.component.grid.Grid;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.component.textfield.TextField;
import com.vaadin.flow.data.provider.ListDataProvider;
import com.vaadin.flow.data.value.ValueChangeMode;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;
import java.util.List;

@Route("orders")
@PageTitle("Orders")
public class OrdersView extends VerticalLayout {

    record Order(String number, String customer, int items) {
    }

    private static final List<Order> DEMO = List.of(
            new Order("1001", "Blue Bottle", 7),
            new Order("1002", "Red Barn", 2),
            new Order("1003", "Blue Heron", 12),
            new Order("1004", "Old Mill", 4));

    public OrdersView() {
        ListDataProvider<Order> orders = new ListDataProvider<>(DEMO);

        Grid<Order> grid = new Grid<>();
        grid.addColumn(Order::number).setHeader("Number");
        grid.addColumn(Order::customer).setHeader("Customer").setSortable(true);
        grid.addColumn(Order::items).setHeader("Items").setSortable(true);
        grid.setItems(orders);

        TextField filter = new TextField("Filter by customer");
        filter.setPlaceholder("Name or part of it");
        filter.setClearButtonVisible(true);
        filter.setValueChangeMode(ValueChangeMode.LAZY);
        filter.addValueChangeListener(change -> orders.setFilter(order ->
                order.customer().toLowerCase().contains(change.getValue().toLowerCase())));

        add(filter, grid);
    }
}
"""

ORDERS_VIEW_IT = """\
package com.acme.shop.orders;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.shop.it.support.SpringPlaywrightIT;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.GridElement;
import org.vaadin.addons.dramafinder.element.TextFieldElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class OrdersViewIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/orders";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("Orders");
    }

    @Test
    void listsAllOrders() {
        GridElement grid = GridElement.get(page);

        grid.assertHeaderCellContents("Number", "Customer", "Items");
        grid.assertRowCount(4);
        grid.assertCellContent(0, "Number", "1001");
        grid.assertCellContent(0, "Customer", "Blue Bottle");
    }

    @Test
    void filtersByPartOfTheCustomersName() {
        TextFieldElement.getByLabel(page, "Filter by customer").setValue("blue");

        GridElement grid = GridElement.get(page);
        grid.assertRowCount(2);
        grid.assertCellContent(1, "Customer", "Blue Heron");
    }

    @Test
    void clearingTheFilterBringsBackAllOrders() {
        TextFieldElement filter = TextFieldElement.getByLabel(page, "Filter by customer");
        GridElement grid = GridElement.get(page);
        filter.setValue("mill");
        grid.assertRowCount(1);

        filter.clickClearButton();

        filter.assertValue("");
        grid.assertRowCount(4);
    }

    @Test
    void sortsByTheNumberOfItems() {
        GridElement grid = GridElement.get(page);
        grid.assertRowCount(4);
        GridElement.HeaderCellElement items = grid.findHeaderCellByText("Items").orElseThrow();

        items.clickSort();

        items.assertSortAscending();
        grid.assertCellContent(0, "Customer", "Red Barn");
    }
}
"""

STOCK_VIEW = """\
package com.acme.shop.stock;

import com.vaadin.flow.component.button.Button;
import com.vaadin.flow.component.grid.Grid;
import com.vaadin.flow.component.notification.Notification;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;
import java.util.ArrayList;
import java.util.List;

@Route("stock")
@PageTitle("Stock")
public class StockView extends VerticalLayout {

    record Article(String name, int pieces) {
    }

    private final List<Article> articles = new ArrayList<>(List.of(
            new Article("Anchor bolt", 120),
            new Article("Cable tie", 0),
            new Article("Hex nut", 0),
            new Article("Washer", 900)));

    public StockView() {
        Grid<Article> grid = new Grid<>();
        grid.setSelectionMode(Grid.SelectionMode.MULTI);
        grid.addColumn(Article::name).setHeader("Article");
        grid.addColumn(Article::pieces).setHeader("Pieces");
        grid.setItems(articles);

        Button archive = new Button("Archive");
        archive.setEnabled(false);
        grid.addSelectionListener(
                selection -> archive.setEnabled(!selection.getAllSelectedItems().isEmpty()));
        archive.addClickListener(click -> {
            int count = grid.getSelectedItems().size();
            articles.removeAll(grid.getSelectedItems());
            grid.deselectAll();
            grid.getDataProvider().refreshAll();
            Notification.show("Articles archived: " + count);
        });

        add(archive, grid);
    }
}
"""

STOCK_VIEW_IT = """\
package com.acme.shop.stock;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.shop.it.support.SpringPlaywrightIT;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.ButtonElement;
import org.vaadin.addons.dramafinder.element.GridElement;
import org.vaadin.addons.dramafinder.element.NotificationElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class StockViewIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/stock";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("Stock");
    }

    @Test
    void listsTheArticlesWithNoneSelected() {
        GridElement grid = GridElement.get(page);

        grid.assertRowCount(4);
        grid.assertCellContent(0, "Article", "Anchor bolt");
        grid.assertCellContent(0, "Pieces", "120");
        grid.assertSelectedItemCount(0);
        ButtonElement.getByText(page, "Archive").assertDisabled();
    }

    @Test
    void selectingAnArticleEnablesArchive() {
        GridElement grid = GridElement.get(page);
        ButtonElement archive = ButtonElement.getByText(page, "Archive");

        grid.select(1);
        grid.assertRowSelected(1);
        archive.assertEnabled();

        grid.deselect(1);
        grid.assertRowNotSelected(1);
        archive.assertDisabled();
    }

    @Test
    void archivesTheSelectedArticles() {
        GridElement grid = GridElement.get(page);
        grid.select(1);
        grid.select(2);
        grid.assertSelectedItemCount(2);

        ButtonElement archive = ButtonElement.getByText(page, "Archive");
        archive.click();

        NotificationElement.getByText(page, "Articles archived: 2").assertOpen();
        grid.assertRowCount(2);
        grid.assertCellContent(1, "Article", "Washer");
        archive.assertDisabled();
    }
}
"""

PROJECTS_VIEW = """\
package com.acme.desk.projects;

import com.vaadin.flow.component.button.Button;
import com.vaadin.flow.component.datepicker.DatePicker;
import com.vaadin.flow.component.dialog.Dialog;
import com.vaadin.flow.component.grid.Grid;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.component.textfield.TextField;
import com.vaadin.flow.data.provider.ListDataProvider;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

@Route("projects")
@PageTitle("Projects")
public class ProjectsView extends VerticalLayout {

    record Project(String name, LocalDate deadline) {
    }

    private final ListDataProvider<Project> projects = new ListDataProvider<>(
            new ArrayList<>(List.of(
                    new Project("Apollo", LocalDate.of(2026, 7, 20)),
                    new Project("Gemini", LocalDate.of(2026, 3, 23)))));

    public ProjectsView() {
        TextField filter = new TextField("Name");
        filter.addValueChangeListener(change -> projects.setFilter(
                project -> project.name().startsWith(change.getValue())));

        Grid<Project> grid = new Grid<>();
        grid.addColumn(Project::name).setHeader("Project");
        grid.addColumn(Project::deadline).setHeader("Deadline");
        grid.setItems(projects);

        add(filter, new Button("New project", click -> newProject()), grid);
    }

    private void newProject() {
        Dialog dialog = new Dialog();
        dialog.setHeaderTitle("New project");
        TextField name = new TextField("Name");
        DatePicker deadline = new DatePicker("Deadline");
        dialog.add(new VerticalLayout(name, deadline));
        dialog.getFooter().add(
                new Button("Cancel", click -> dialog.close()),
                new Button("Create", click -> {
                    if (name.isEmpty()) {
                        name.setErrorMessage("A project needs a name");
                        name.setInvalid(true);
                        return;
                    }
                    projects.getItems().add(new Project(name.getValue(), deadline.getValue()));
                    projects.refreshAll();
                    dialog.close();
                }));
        dialog.open();
    }
}
"""

PROJECTS_VIEW_IT = """\
package com.acme.desk.projects;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.desk.it.support.SpringPlaywrightIT;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.ButtonElement;
import org.vaadin.addons.dramafinder.element.DatePickerElement;
import org.vaadin.addons.dramafinder.element.DialogElement;
import org.vaadin.addons.dramafinder.element.GridElement;
import org.vaadin.addons.dramafinder.element.TextFieldElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class ProjectsViewIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/projects";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("Projects");
    }

    @Test
    void createsAProject() {
        DialogElement dialog = openDialog();
        TextFieldElement.getByLabel(dialog.getLocator(), "Name").setValue("Voyager");
        DatePickerElement.getByLabel(dialog.getLocator(), "Deadline")
                .setValue(LocalDate.of(2026, 9, 5));

        ButtonElement.getByText(dialog.getLocator(), "Create").click();

        dialog.assertClosed();
        GridElement grid = GridElement.get(page);
        grid.assertRowCount(3);
        grid.assertCellContent(2, "Project", "Voyager");
        grid.assertCellContent(2, "Deadline", "2026-09-05");
    }

    @Test
    void asksForAName() {
        DialogElement dialog = openDialog();

        ButtonElement.getByText(dialog.getLocator(), "Create").click();

        TextFieldElement name = TextFieldElement.getByLabel(dialog.getLocator(), "Name");
        name.assertInvalid();
        name.assertErrorMessage("A project needs a name");
        dialog.assertOpen();
    }

    @Test
    void cancelLeavesTheListAlone() {
        DialogElement dialog = openDialog();
        TextFieldElement.getByLabel(dialog.getLocator(), "Name").setValue("Voyager");

        ButtonElement.getByText(dialog.getLocator(), "Cancel").click();

        dialog.assertClosed();
        GridElement.get(page).assertRowCount(2);
    }

    private DialogElement openDialog() {
        ButtonElement.getByText(page, "New project").click();
        DialogElement dialog = DialogElement.getByHeaderText(page, "New project");
        dialog.assertOpen();
        return dialog;
    }
}
"""

MEMBERS_VIEW = """\
package com.acme.crm.members;

import com.vaadin.flow.component.button.Button;
import com.vaadin.flow.component.checkbox.Checkbox;
import com.vaadin.flow.component.dialog.Dialog;
import com.vaadin.flow.component.grid.Grid;
import com.vaadin.flow.component.html.Paragraph;
import com.vaadin.flow.component.notification.Notification;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;
import java.util.ArrayList;
import java.util.List;

@Route("members")
@PageTitle("Members")
public class MembersView extends VerticalLayout {

    record Member(String name, String role) {
    }

    private final List<Member> members = new ArrayList<>(List.of(
            new Member("Ada", "Owner"),
            new Member("Grace", "Editor"),
            new Member("Linus", "Reader")));
    private final Grid<Member> grid = new Grid<>();

    public MembersView() {
        grid.addColumn(Member::name).setHeader("Name");
        grid.addColumn(Member::role).setHeader("Role");
        grid.addComponentColumn(member -> new Button("Remove", click -> confirm(member)))
                .setHeader("Actions");
        grid.setItems(members);
        add(grid);
    }

    private void confirm(Member member) {
        Dialog dialog = new Dialog();
        dialog.setHeaderTitle("Remove member");
        Button remove = new Button("Remove", click -> {
            members.remove(member);
            grid.getDataProvider().refreshAll();
            dialog.close();
            Notification.show(member.name() + " has been removed");
        });
        remove.setEnabled(false);
        Checkbox sure = new Checkbox("I know that this cannot be undone");
        sure.addValueChangeListener(change -> remove.setEnabled(change.getValue()));
        dialog.add(new VerticalLayout(new Paragraph("Member: " + member.name()), sure));
        dialog.getFooter().add(new Button("Keep", click -> dialog.close()), remove);
        dialog.open();
    }
}
"""

MEMBERS_VIEW_IT = """\
package com.acme.crm.members;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.crm.it.support.SpringPlaywrightIT;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.ButtonElement;
import org.vaadin.addons.dramafinder.element.CheckboxElement;
import org.vaadin.addons.dramafinder.element.DialogElement;
import org.vaadin.addons.dramafinder.element.GridElement;
import org.vaadin.addons.dramafinder.element.NotificationElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class MembersViewIT extends SpringPlaywrightIT {

    private static final String SURE = "I know that this cannot be undone";

    @Override
    public String getView() {
        return "/members";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("Members");
    }

    @Test
    void listsTheMembers() {
        GridElement grid = GridElement.get(page);

        grid.assertHeaderCellContents("Name", "Role", "Actions");
        grid.assertRowCount(3);
        grid.assertCellContent(1, "Name", "Grace");
    }

    @Test
    void removalHasToBeConfirmed() {
        DialogElement dialog = askToRemoveRow(1);
        ButtonElement remove = ButtonElement.getByText(dialog.getLocator(), "Remove");

        remove.assertDisabled();
        CheckboxElement.getByLabel(page, SURE).check();
        remove.assertEnabled();
    }

    @Test
    void removesTheMember() {
        DialogElement dialog = askToRemoveRow(1);
        CheckboxElement.getByLabel(page, SURE).check();

        ButtonElement.getByText(dialog.getLocator(), "Remove").click();

        dialog.assertClosed();
        NotificationElement.getByText(page, "Grace has been removed").assertOpen();
        GridElement grid = GridElement.get(page);
        grid.assertRowCount(2);
        grid.assertCellContent(1, "Name", "Linus");
    }

    @Test
    void keepsTheMember() {
        DialogElement dialog = askToRemoveRow(1);

        ButtonElement.getByText(dialog.getLocator(), "Keep").click();

        dialog.assertClosed();
        GridElement.get(page).assertRowCount(3);
    }

    private DialogElement askToRemoveRow(int row) {
        GridElement grid = GridElement.get(page);
        grid.assertRowCount(3);
        GridElement.CellElement actions = grid.findCell(row, "Actions").orElseThrow();
        ButtonElement.getByText(actions.getCellContentLocator(), "Remove").click();
        DialogElement dialog = DialogElement.getByHeaderText(page, "Remove member");
        dialog.assertOpen();
        return dialog;
    }
}
"""

MAIN_LAYOUT = """\
package com.acme.crm;

import com.vaadin.flow.component.applayout.AppLayout;
import com.vaadin.flow.component.applayout.DrawerToggle;
import com.vaadin.flow.component.html.H1;
import com.vaadin.flow.component.html.H2;
import com.vaadin.flow.component.html.Main;
import com.vaadin.flow.component.sidenav.SideNav;
import com.vaadin.flow.component.sidenav.SideNavItem;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;

public class MainLayout extends AppLayout {

    public MainLayout() {
        SideNav menu = new SideNav("Main menu");
        menu.addItem(
                new SideNavItem("Dashboard", DashboardView.class),
                new SideNavItem("Contacts", ContactsView.class),
                new SideNavItem("Reports", ReportsView.class));
        addToNavbar(new DrawerToggle(), new H1("Acme CRM"));
        addToDrawer(menu);
    }

    @Route(value = "", layout = MainLayout.class)
    @PageTitle("Dashboard | Acme CRM")
    public static class DashboardView extends Main {
        public DashboardView() {
            add(new H2("What's new"));
        }
    }

    @Route(value = "contacts", layout = MainLayout.class)
    @PageTitle("Contacts | Acme CRM")
    public static class ContactsView extends Main {
        public ContactsView() {
            add(new H2("All contacts"));
        }
    }

    @Route(value = "reports", layout = MainLayout.class)
    @PageTitle("Reports | Acme CRM")
    public static class ReportsView extends Main {
        public ReportsView() {
            add(new H2("Monthly reports"));
        }
    }
}
"""

MAIN_LAYOUT_IT = """\
package com.acme.crm;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.crm.it.support.SpringPlaywrightIT;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.SideNavigationElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class MainLayoutIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/";
    }

    @Test
    void startsOnTheDashboard() {
        assertThat(page).hasTitle("Dashboard | Acme CRM");

        SideNavigationElement menu = SideNavigationElement.getByLabel(page, "Main menu");
        menu.getItem("Dashboard").assertCurrent();
        menu.getItem("Contacts").assertNotCurrent();
    }

    @Test
    void opensTheContacts() {
        SideNavigationElement menu = SideNavigationElement.getByLabel(page, "Main menu");

        menu.clickItem("Contacts");

        assertThat(page).hasURL(Pattern.compile(".*/contacts$"));
        assertThat(page).hasTitle("Contacts | Acme CRM");
        menu.getItem("Contacts").assertCurrent();
    }

    @Test
    void opensTheReports() {
        SideNavigationElement menu = SideNavigationElement.getByLabel(page, "Main menu");

        menu.clickItem("Reports");

        assertThat(page).hasURL(Pattern.compile(".*/reports$"));
        assertThat(page).hasTitle("Reports | Acme CRM");
        menu.getItem("Reports").assertCurrent();
    }

    @Test
    void leadsBackToTheDashboard() {
        SideNavigationElement menu = SideNavigationElement.getByLabel(page, "Main menu");
        menu.clickItem("Reports");
        assertThat(page).hasTitle("Reports | Acme CRM");

        menu.clickItem("Dashboard");

        assertThat(page).hasTitle("Dashboard | Acme CRM");
    }
}
"""

ACCOUNT_VIEW = """\
package com.acme.shop.account;

import com.vaadin.flow.component.button.Button;
import com.vaadin.flow.component.details.Details;
import com.vaadin.flow.component.html.Paragraph;
import com.vaadin.flow.component.orderedlayout.VerticalLayout;
import com.vaadin.flow.component.tabs.TabSheet;
import com.vaadin.flow.component.textfield.PasswordField;
import com.vaadin.flow.component.textfield.TextField;
import com.vaadin.flow.router.PageTitle;
import com.vaadin.flow.router.Route;

@Route("account")
@PageTitle("Your account")
public class AccountView extends VerticalLayout {

    public AccountView() {
        TextField nickname = new TextField("Nickname");
        nickname.setValue("guest");

        PasswordField password = new PasswordField("New password");
        Details hints = new Details("What makes a good password?",
                new Paragraph("Four unrelated words are hard to guess."));
        hints.setOpened(false);

        Button orders = new Button("Show my orders",
                click -> click.getSource().getUI().ifPresent(ui -> ui.navigate("account/orders")));

        TabSheet tabs = new TabSheet();
        tabs.add("Profile", new VerticalLayout(nickname));
        tabs.add("Security", new VerticalLayout(password, hints));
        tabs.add("Orders", new VerticalLayout(orders));
        add(tabs);
    }

    @Route("account/orders")
    @PageTitle("Your orders")
    public static class OwnOrdersView extends VerticalLayout {
        public OwnOrdersView() {
            add(new Paragraph("You have not ordered anything yet."));
        }
    }
}
"""

ACCOUNT_VIEW_IT = """\
package com.acme.shop.account;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.acme.shop.it.support.SpringPlaywrightIT;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.vaadin.addons.dramafinder.element.ButtonElement;
import org.vaadin.addons.dramafinder.element.DetailsElement;
import org.vaadin.addons.dramafinder.element.PasswordFieldElement;
import org.vaadin.addons.dramafinder.element.TabSheetElement;
import org.vaadin.addons.dramafinder.element.TextFieldElement;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class AccountViewIT extends SpringPlaywrightIT {

    @Override
    public String getView() {
        return "/account";
    }

    @Test
    void hasTitle() {
        assertThat(page).hasTitle("Your account");
    }

    @Test
    void startsWithTheProfile() {
        TabSheetElement tabs = TabSheetElement.get(page);

        tabs.assertTabsCount(3);
        tabs.getTab("Profile").assertSelected();
        TextFieldElement.getByLabel(page, "Nickname").assertValue("guest");
    }

    @Test
    void switchesToSecurity() {
        TabSheetElement tabs = TabSheetElement.get(page);

        tabs.selectTab("Security");

        tabs.getTab("Security").assertSelected();
        tabs.getTab("Profile").assertNotSelected();
        PasswordFieldElement.getByLabel(page, "New password").assertVisible();
    }

    @Test
    void unfoldsTheHintsOnPasswords() {
        TabSheetElement.get(page).selectTab("Security");
        DetailsElement hints = DetailsElement.getBySummaryText(page, "What makes a good password?");
        hints.assertClosed();

        hints.setOpen(true);

        hints.assertOpened();
        hints.assertContentVisible();
    }

    @Test
    void leadsToTheOrders() {
        TabSheetElement.get(page).selectTab("Orders");

        ButtonElement.getByText(page, "Show my orders").click();

        assertThat(page).hasURL(Pattern.compile(".*/account/orders$"));
        assertThat(page).hasTitle("Your orders");
    }
}
"""

RAW_LOCATOR = Pattern(r"\b(?:page|getPage\s*\(\s*\))\s*\.\s*(?:locator|querySelector(?:All)?)\s*\(")
FIXED_WAIT = Pattern(r"\bThread\s*\.\s*sleep\s*\(|\bwaitForTimeout\s*\(")

BUTTON = Pattern(r"\bButtonElement\s*\.\s*getBy(?:Text|Label)\s*\(")
DIALOG = Pattern(r"\bDialogElement\s*\.\s*getByHeaderText\s*\(|\bnew\s+DialogElement\s*\(")
GRID = Pattern(r"\bGridElement\s*\.\s*get(?:ById)?\s*\(")
NOTIFICATION = Pattern(
    r"\bNotificationElement\s*\.\s*getByText\s*\(|\bnew\s+NotificationElement\s*\("
)
SCOPED_NAME = Pattern(
    r"\bTextFieldElement\s*\.\s*getByLabel\s*\((?!\s*(?:this\s*\.\s*)?(?:page\b|getPage\b))"
)
SELECT = Pattern(r"\bSelectElement\s*\.\s*getByLabel\s*\(")

CELL_CONTENT = Pattern(r"\.\s*(?:assertCellContent|getCellContentLocator)\s*\(")
DISABLED = Pattern(r"\.\s*(?:assertDisabled\s*\(|assertEnabled\s*\(\s*false|isDisabled\s*\()")
ENABLED = Pattern(r"\.\s*(?:assertEnabled\s*\(\s*(?:true\s*)?\)|isEnabled\s*\()")
ERROR_MESSAGE = Pattern(r"\.\s*(?:assertErrorMessage|getErrorMessageLocator)\s*\(")
GET_VIEW = Pattern(r"\bString\s+getView\s*\(\s*\)")
ROW_COUNT = Pattern(r"\.\s*(?:assertRowCount|getTotalRowCount)\s*\(")


def prompt(wish: str, *, view: str, base: str) -> str:
    """The wish, what is true of every project here, and the view's source."""
    return f"""\
{wish}

The project is a Spring Boot application with Vaadin, Playwright for Java and Drama Finder
(org.vaadin.addons:dramafinder) on the test classpath. Its integration tests extend
{base}.SpringPlaywrightIT, a Drama Finder test that launches the browser, knows
the address of the application and opens the view of the test class; it has no Spring annotations.
Please answer with one complete Java class, several short test methods in it.

```java
{view}```
"""


DATASET = Dataset(
    name="view_tasks",
    skill="vaadin-playwright-test",
    judge=True,
    description="The source of a view is given and a complete test class is asked for.",
    items=[
        Item(
            id="customer-form",
            category="form-view",
            prompt=prompt(
                "Write CustomerFormViewIT for the view below: the defaults and the helper text, "
                "saving with empty fields, and saving a complete customer.",
                view=CUSTOMER_FORM_VIEW,
                base="com.acme.crm.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    "TextFieldElement.getByLabel",
                    "EmailFieldElement.getByLabel",
                    "ComboBoxElement.getByLabel",
                    ERROR_MESSAGE,
                    NOTIFICATION,
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The class covers the preselected segment, the helper text, both error messages "
                "after saving an empty form, and the notification after a complete one. Every "
                "field goes through the element class of its own type, and the texts are those "
                "of the view."
            ),
            ground_truth=CUSTOMER_FORM_VIEW_IT,
            tags=["validation"],
        ),
        Item(
            id="preferences",
            category="form-view",
            prompt=prompt(
                "We have no test of our preferences yet. Please write PreferencesViewIT: initial "
                "state, how the weekly report and its day depend on each other, and when one "
                "can save.",
                view=PREFERENCES_VIEW,
                base="com.acme.desk.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    SELECT,
                    "CheckboxElement.getByLabel",
                    BUTTON,
                    DISABLED,
                    ENABLED,
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The defaults are asserted, ticking and unticking the report enables and disables "
                "the day, and Save is disabled until something changes and again after saving. "
                "The states are asserted with retrying assertions on the elements."
            ),
            ground_truth=PREFERENCES_VIEW_IT,
        ),
        Item(
            id="orders",
            category="grid-view",
            prompt=prompt(
                "Please cover OrdersView with a test class OrdersViewIT: what the grid shows, the "
                "filter (also emptying it again), and sorting by the number of items.",
                view=ORDERS_VIEW,
                base="com.acme.shop.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    GRID,
                    ROW_COUNT,
                    CELL_CONTENT,
                    "TextFieldElement.getByLabel",
                    "clickSort(",
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "Row counts are 4, then 2 for blue or whatever the chosen filter leaves, then 4 "
                "again; sorting by Items puts Red Barn first. Grid content is asserted through "
                "the grid element, and the delayed filter is awaited by a retrying assertion."
            ),
            ground_truth=ORDERS_VIEW_IT,
            tags=["sorting", "filter"],
        ),
        Item(
            id="stock",
            category="grid-view",
            prompt=prompt(
                "I need StockViewIT for this multi-select grid: selecting and deselecting rows, "
                "the state of the button, and archiving two articles at once.",
                view=STOCK_VIEW,
                base="com.acme.shop.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    GRID,
                    Pattern(r"\.\s*select\s*\("),
                    BUTTON,
                    ROW_COUNT,
                    NOTIFICATION,
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "Rows are selected and deselected through the grid element, the button follows "
                "the selection, and archiving two rows leaves two rows and shows the "
                "notification with the count. Column indexes take the selection column into "
                "account, or columns are named by header."
            ),
            ground_truth=STOCK_VIEW_IT,
            tags=["selection"],
        ),
        Item(
            id="projects",
            category="dialog-view",
            prompt=prompt(
                "ProjectsViewIT is missing. It should create a project with a deadline in the "
                "dialog, try it without a name, and cancel. Mind that the view has a field with "
                "the same label as the dialog.",
                view=PROJECTS_VIEW,
                base="com.acme.desk.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    DIALOG,
                    SCOPED_NAME,
                    "DatePickerElement.getByLabel",
                    ERROR_MESSAGE,
                    ROW_COUNT,
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The dialog's fields and buttons are looked up within the dialog. Creating adds a "
                "third row and closes the dialog, a missing name keeps it open with the error "
                "message, cancelling leaves two rows. The deadline is set as a LocalDate."
            ),
            ground_truth=PROJECTS_VIEW_IT,
            tags=["scope"],
        ),
        Item(
            id="members",
            category="dialog-view",
            prompt=prompt(
                "Please test the removal of members in MembersViewIT: the button in a row, the "
                "confirmation that has to be ticked, removing, and keeping.",
                view=MEMBERS_VIEW,
                base="com.acme.crm.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    GRID,
                    DIALOG,
                    BUTTON,
                    "CheckboxElement.getByLabel",
                    ROW_COUNT,
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The row's button is found inside its cell and the dialog's button inside the "
                "dialog, although both are called Remove. The test shows that removal needs the "
                "tick, that it leaves two rows and a notification, and that keeping leaves three."
            ),
            ground_truth=MEMBERS_VIEW_IT,
            tags=["scope"],
        ),
        Item(
            id="main-layout",
            category="navigation-view",
            prompt=prompt(
                "Write MainLayoutIT, which tests our navigation: where one starts, and that each "
                "entry of the menu leads to its page and is then marked as the current one.",
                view=MAIN_LAYOUT,
                base="com.acme.crm.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    "SideNavigationElement.getByLabel",
                    Pattern(r"\.\s*(?:clickItem|click)\s*\(|(?<!\bpage)\.navigate\s*\("),
                    Pattern(r"\.\s*hasTitle\s*\("),
                    "assertCurrent(",
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "The menu is found by its label and its entries are clicked through the side "
                "navigation element; title or address of each page and the current entry are "
                "asserted. The start page is the empty route."
            ),
            ground_truth=MAIN_LAYOUT_IT,
        ),
        Item(
            id="account",
            category="navigation-view",
            prompt=prompt(
                "Could you write AccountViewIT? I'd like to see the tabs tested (the first is "
                "open at the start, then Security), the folded hints about passwords, and the "
                "way to the orders.",
                view=ACCOUNT_VIEW,
                base="com.acme.shop.it.support",
            ),
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    "TabSheetElement.get",
                    Pattern(r"\.\s*(?:selectTab|select)\s*\("),
                    "DetailsElement.getBySummaryText",
                    BUTTON,
                    Pattern(r"\.\s*(?:hasURL|hasTitle)\s*\("),
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "Tabs are switched and asserted through the tab sheet element, the hints are "
                "closed at first and opened through the details element, and the button leads to "
                "the other address and title."
            ),
            ground_truth=ACCOUNT_VIEW_IT,
        ),
    ],
)
